"""The script of the documentation trains, as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "train_tiny.py"


@pytest.mark.train
def test_it_makes_a_model_pass_the_gate_more_often(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, SCRIPT], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    first, last = (float(number) for number in re.findall(r"ten(?: steps)? (-?\d\.\d\d)", done.stdout))
    assert -0.6 < first < 0.8  # 20 to 90 % of the first pages pass
    assert last > first + 0.1
