"""TypeScript made into one script that a page can be handed, by the bundler that makes the pages."""

from __future__ import annotations

import subprocess

from browser.setting import MODULES, ROOT


def bundled(source: str) -> str:
    """A script that runs this module; imports are relative to the repository's root."""
    options = ["--bundle", "--format=iife", "--target=es2022", "--loader=ts"]
    command = [str(MODULES / ".bin" / "esbuild"), *options, f"--sourcefile={ROOT}/test.ts", "--log-level=error"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
