import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_wheel_runs_the_readme_in_an_empty_folder(plain_checkpoint, tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheels, site, empty = tmp_path / "wheels", tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    source = tmp_path / "source"  # setuptools would reuse a build/ folder of the checkout
    left_out = shutil.ignore_patterns(".*", "build", "output", "*.egg-info")
    shutil.copytree(ROOT, source, symlinks=True, ignore=left_out)
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True, capture_output=True)

    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks).replace("bert-base-uncased", plain_checkpoint)
    code += "\nimport syntax_bert; print(syntax_bert.__file__)\n"
    environment = {**os.environ, "PYTHONPATH": str(site), "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=empty, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    columns, classified, file = ran.stdout.splitlines()
    assert "'deprel_ids'" in columns
    assert "torch.Size([2, 2])" in columns
    assert "score" in classified
    assert Path(file).is_relative_to(site)
