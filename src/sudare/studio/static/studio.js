"use strict";
// Follows the work while it runs, and tells what the slider means. Every page also works by plain links and forms.
(() => {
  const here = document.querySelector(".steps .here");
  if (here) here.scrollIntoView({ block: "nearest", inline: "center" });

  const working = document.getElementById("working");
  if (working) {
    const source = new EventSource(working.dataset.events);
    source.addEventListener("message", (event) => {
      const job = JSON.parse(event.data);
      if (job.state !== "running") {
        source.close();
        location.reload();
        return;
      }
      document.getElementById("bar").value = job.share;
      document.getElementById("step").textContent = job.step;
    });
  }

  const slider = document.getElementById("slider");
  if (slider) {
    const rows = new Map(JSON.parse(slider.dataset.rows).map((row) => [row.k, row]));
    const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
    const share = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
    slider.elements.k.addEventListener("input", () => {
      const row = rows.get(Number(slider.elements.k.value));
      document.getElementById("k-told").textContent =
        `k = ${row.k}: about ${whole.format(row.pilot ?? row.expected)} dummy records; ` +
        `a history is found with chance ${share.format(row.reid)}`;
    });
  }
})();
