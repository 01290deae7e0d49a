"""The README of the reviews example, every command of it, with a small model and data of the same form."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "examples" / "reviews" / "README.md"
SECTIONS = {
    "1 Introduction": "We show that a cat sleeps, cf. Fig. {}. Dogs are better.",
    "7 Conclusion": "We found cat {}.",
}


@pytest.fixture
def data(tmp_path):
    """A folder of raw reviews, keywords, parameters and a long paper."""
    for folder in ("tagger", "extractor"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    texts = {
        "tagger/sample.txt": "The cat sleeps. It is clear.\nWe see a dog, i.e. an unhappy one.\n",
        "extractor/keywords.txt": "show shows\nfound\nbetter\n",
        "extractor/parameters.txt": "".join(f"{row} 0.5 1000\n" for row in range(3, 26)),
    }
    sections = [
        {"heading": heading, "text": " ".join(text.format(number) for number in range(40))}
        for heading, text in SECTIONS.items()
    ]
    texts["extractor/paper.json"] = json.dumps({"metadata": {"abstractText": "We show cats.", "sections": sections}})
    for name, text in texts.items():
        (tmp_path / "data" / name).write_text(text)
    return tmp_path / "data"


@pytest.mark.slow
def test_every_command_of_the_readme(plain_checkpoint, data, tmp_path):
    blocks = re.findall(r"```bash\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    script = "\n".join(["set -e", *(block for block in blocks if not block.startswith("pip "))])
    for old, new in (
        ("MODEL=bert-base-uncased", f"MODEL={plain_checkpoint}"),
        ("DATA=reviewadvisor", f"DATA={data}"),
        ("--seeds 1 2 3 ", "--seeds 1 "),
        ("--num_train_epochs 40", "--num_train_epochs 1 --max_seq_length 64 --use_cpu"),
    ):
        assert old in script
        script = script.replace(old, new)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "run_xtreme_syntax.py").symlink_to(ROOT / "run_xtreme_syntax.py")
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
    }

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    printed = run("bash", "-c", script)
    output = tmp_path / "output" / "reviews"
    for name in ("tagged", "cleaned"):
        assert len((output / f"{name}.jsonl").read_text().splitlines()) == 2
        assert (output / name / "scores.md").read_text() in printed
        assert (output / name / "scores.png").exists()
    for method in ("cross_entropy", "sections", "hybrid"):
        assert 0 < len((output / f"{method}.txt").read_text().splitlines()) <= 30
    assert len(re.findall(r"^seed \d.* times faster ", printed, re.MULTILINE)) == 5
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert re.fullmatch(r"\[\('The', '\w+'\), .*, \('\.', '\w+'\)\]\n", run(sys.executable, "-c", code))
