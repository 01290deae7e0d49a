"""The demo, small, from its command line to its last prediction; a second run replaces the first."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


@pytest.mark.slow
def test_demo_twice(tmp_path):
    folder = tmp_path / "demo"
    small = ["--num_sentences", "128", "--num_train_epochs", "1", "--seeds", "1", "2"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    for arguments in (small, small[:-1]):
        result = subprocess.run(
            [sys.executable, str(DEMO), "--output_dir", str(folder), *arguments],
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr[-3000:]
        table = (folder / "demo-runs" / "comparison.md").read_text(encoding="utf-8")
        assert table in result.stdout
        num_seeds = len(arguments) - small.index("--seeds") - 1
        assert re.findall(r"^\| (plain|upos\+deprel) \| (\d) \|", table, re.MULTILINE) == [
            ("plain", str(num_seeds)),
            ("upos+deprel", str(num_seeds)),
        ]
        assert (folder / "tree.png").read_bytes().startswith(b"\x89PNG")
        assert re.search(r"^ +have +AUX +aux ", result.stdout, re.MULTILINE)
        predictions = re.findall(r"^ +(?:un)?acceptable (\d\.\d{3})  The .+\.$", result.stdout, re.MULTILINE)
        assert len(predictions) == 3
        assert all(0.5 <= float(score) <= 1 for score in predictions)
