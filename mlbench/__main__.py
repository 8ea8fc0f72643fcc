"""Entry point of ``python -m mlbench``."""

from mlbench.cli import main

if __name__ == "__main__":
    main()
