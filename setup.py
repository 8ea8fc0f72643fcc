"""The one part of the build that setup.cfg cannot say: a module in C, left out where it fails."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "mlbench.runlog._scan",
            sources=["mlbench/runlog/_scan.c"],
            depends=["mlbench/runlog/_event.h"],
            # The reader does without: slower, with the same results.
            optional=True,
            py_limited_api=True,
        )
    ]
)
