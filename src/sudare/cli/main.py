"""`sudare`: finds the commands, runs one, and turns errors into one or two lines and an exit code."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import signal
import sys
import warnings
from typing import Any, TextIO

import typer

from sudare import progress
from sudare.data.files.unit import sweep
from sudare.errors import SudareError, SudareWarning, is_interrupt, of_engine
from sudare.results import visible

# the order of the loop, which is the order of `sudare --help`
ORDER = (
    "demo init risk disclosure plan anonymize attack utility compare estimate check report studio reproduce fetch "
    "methods key"
).split()


def main() -> None:
    """The console script."""
    _open_streams()
    _stop_on_signals()
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    sys.exit(run(arguments, debug=debug))


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run one command line; returns the exit code."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", SudareWarning)
    try:
        with progress.shown():
            sweep()
            app = build(*arguments[:1])
            result = app(arguments or ["--help"], prog_name="sudare", standalone_mode=False)
            sys.stdout.flush()
        if result == 130:  # typer's word for Ctrl-C
            return _fail("stopped", 130)
        return result if isinstance(result, int) else 0
    except typer.Exit as stop:
        return stop.exit_code
    except typer.TyperException as error:
        return _wrong_call(error)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("stopped", 130)
    except BrokenPipeError:
        _silence(sys.stdout)  # the reader has gone; say nothing more
        return 0
    except SudareError as error:
        if _stopped:
            return _fail("stopped", 130)
        if debug:
            raise
        return _fail(str(error), error.exit_code)
    except Exception as error:
        if _stopped or is_interrupt(error):
            return _fail("stopped", 130)
        if debug:
            raise
        return _fail(str(_output(error) or of_engine(error) or _unexpected(error)), 3)


def build(command: str = "") -> typer.Typer:
    """The application with every command module of this folder, or with one command when it is named: typer
    takes longer to look at all of them than one of them takes to run on a small file.
    """
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help="What an attacker could learn from a table about people, what preventing it costs, and the evidence.",
        epilog="A command with --debug shows where an error comes from. Start with: sudare demo",
    )
    app.callback()(_common)
    found = {module.name for module in pkgutil.iter_modules([os.path.dirname(__file__)])}
    for name in (command,) if command in ORDER else ORDER:
        if name in found:
            importlib.import_module(f"sudare.cli.{name}").register(app)
    return app


def _common(
    version: bool = typer.Option(
        False, "--version", is_eager=True, help="Show the version.", callback=lambda v: _version(v)
    ),
    data_dir: str = typer.Option("", "--data-dir", help="Folder of public data sets (SUDARE_DATA)."),
) -> None:
    if data_dir:
        os.environ["SUDARE_DATA"] = data_dir


def _version(wanted: bool) -> None:
    if wanted:
        from sudare.version import __version__

        typer.echo(f"sudare {__version__}")
        raise typer.Exit()


def _stop_on_signals() -> None:
    """A hang-up and a request to end are Ctrl-C: everything is taken back. The second one ends the process at once,
    and the next start clears up. What the caller chose to ignore (nohup) stays ignored.
    """

    def stop(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        _stopped.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, stop)


# libraries turn a KeyboardInterrupt that meets them at work into errors of their own
_stopped: list[int] = []


def _open_streams() -> None:
    """A stream that the caller closed gets a file of its own: the next file opened would take its number, and get the
    messages. Nothing can be written to such a standard output, which is an error when it is tried.
    """
    for number, name, mode in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, mode)
            os.dup2(handle, number)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115  it is open to the end


def _silence(stream: TextIO) -> None:
    """What is still to be written to a stream that takes nothing goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _output(error: Exception) -> str | None:
    """What happened to standard output: files say themselves what happened to them."""
    if not isinstance(error, OSError) or error.filename is not None:
        return None
    _silence(sys.stdout)
    return f"standard output cannot be written ({error.strerror or 'error'}); send it to a file or a pipe that takes it"


def _fail(text: str, code: int) -> int:
    _say(f"error: {_lines(text)}")
    return code


def _say(text: str) -> None:
    """A line on standard error; if that takes nothing, the exit code has to do."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _lines(text: str) -> str:
    """A message may quote the name of a column or a file, and nobody's name steers the terminal."""
    return "\n".join(map(visible, text.split("\n")))


def _wrong_call(error: typer.TyperException) -> int:
    text = error.format_message()
    if text.startswith("Usage:"):  # a group of commands without a command
        _say(text)
        return 2
    context = getattr(error, "ctx", None)
    return _fail(text.rstrip(".") + (f"; see {context.command_path} --help" if context else ""), 2)


def _unexpected(error: Exception) -> str:
    """What broke, without its message: that may quote data."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = (
        f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"
        if frame
        else "unknown place"
    )
    return f"sudare failed unexpectedly ({type(error).__name__} at {place}); run again with --debug and report it"


def _show_warning(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
    if isinstance(message, SudareWarning):
        _say(f"warning {message.code}: {_lines(message.text)}")


if __name__ == "__main__":
    main()
