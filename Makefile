# `make demo` and `make test` start from Python >= 3.11, make and PyPI; TORCH chooses the torch requirement.
PYTHON ?= python3
TORCH ?= torch
PIP = .venv/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint clean

.venv/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "syntax_bert needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(PIP) '$(TORCH)'
	$(PIP) --editable '.[dev]'
	touch $@

demo: .venv/ready
	.venv/bin/python examples/demo.py

test: .venv/ready
	.venv/bin/python -m pytest --numprocesses auto --dist worksteal

lint: .venv/ready
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

clean:
	rm -rf .venv build dist output *.egg-info
