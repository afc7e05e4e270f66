"use strict";
// Sorting and tabs; without this file the page shows the same, in one order and all at once.
(() => {
  const number = (cell) => (cell.dataset.value === undefined || cell.dataset.value === "" ? null : Number(cell.dataset.value));

  const sort = (table, index, ascending) => {
    const body = table.tBodies[0];
    const key = (row) => number(row.cells[index]) ?? row.cells[index].textContent.trim();
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    const rows = [...body.rows].sort((a, b) => (ascending ? 1 : -1) * compare(key(a), key(b)));
    body.append(...rows);
  };

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    if (table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const ascending = head.getAttribute("aria-sort") !== "ascending";
        for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sort(table, index, ascending);
      });
    });
  }

  document.querySelectorAll("[data-tabs]").forEach((group, number_) => {
    const panels = [...group.children].filter((child) => child.tagName === "SECTION");
    if (panels.length < 2) return;
    const list = document.createElement("div");
    list.className = "tablist";
    list.setAttribute("role", "tablist");
    const select = (chosen, focus) => panels.forEach((panel, i) => {
      const tab = list.children[i];
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      panel.hidden = i !== chosen;
      if (i === chosen && focus) tab.focus();
    });
    panels.forEach((panel, i) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.id = `tab-${number_}-${i}`;
      tab.textContent = panel.querySelector("h2, h3, h4").textContent;
      tab.setAttribute("role", "tab");
      panel.id = panel.id || `panel-${number_}-${i}`;
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => select(i, false));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) select((i + step + panels.length) % panels.length, true);
      });
      list.append(tab);
    });
    group.classList.add("tabbed");
    group.prepend(list);
    select(0, false);
  });

  const toc = document.querySelector(".toc details");
  if (toc && matchMedia("(max-width: 60rem)").matches) toc.open = false;
})();
