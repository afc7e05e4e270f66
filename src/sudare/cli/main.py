"""`sudare`: finds the commands, runs one, and turns errors into one or two lines and an exit code."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import warnings
from typing import Any

import typer

from sudare import progress
from sudare.errors import SudareError, SudareWarning
from sudare.results import visible

# the order of the loop, which is the order of `sudare --help`
ORDER = (
    "demo init risk disclosure plan anonymize attack utility compare estimate check report studio reproduce fetch "
    "methods key"
).split()


def main() -> None:
    """The console script."""
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
            app = build(*arguments[:1])
            result = app(arguments or ["--help"], prog_name="sudare", standalone_mode=False)
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
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  the reader has gone; say nothing more
        return 0
    except SudareError as error:
        if debug:
            raise
        return _fail(str(error), error.exit_code)
    except Exception as error:
        if debug:
            raise
        return _fail(_unexpected(error), 3)


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


def _fail(text: str, code: int) -> int:
    print(f"error: {_lines(text)}", file=sys.stderr)
    return code


def _lines(text: str) -> str:
    """A message may quote the name of a column or a file, and nobody's name steers the terminal."""
    return "\n".join(map(visible, text.split("\n")))


def _wrong_call(error: typer.TyperException) -> int:
    text = error.format_message()
    if text.startswith("Usage:"):  # a group of commands without a command
        print(text, file=sys.stderr)
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
    if type(error).__name__ in ("MemoryError", "OutOfMemoryException"):
        return "not enough memory; set SUDARE_MEMORY to what this process may take (e.g. 2GB), or free some"
    return f"sudare failed unexpectedly ({type(error).__name__} at {place}); run again with --debug and report it"


def _show_warning(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
    if isinstance(message, SudareWarning):
        print(f"warning {message.code}: {_lines(message.text)}", file=sys.stderr)


if __name__ == "__main__":
    main()
