"""mlbench: the workbench for MLPerf-style training benchmarks.

The package is one chain of frozen types; each arrow is a function in the package named::

    RunConfig --plan--> RunPlan --launch--> ranks --train--> result_N.txt
    result_N.txt --runlog--> RunLog --check--> [Violation]
                             RunLog --score--> RunResult --> BenchmarkResult --> Leaderboard
    Leaderboard --report--> Table --> terminal, markdown, csv, json
"""

__version__ = "0.1.0"
