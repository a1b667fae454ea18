"""The benchmark of this project: how fast pages become pictures and verdicts, and what that costs.

    make bench                                   everything, about half an hour on 2 cores
    python -m tests.performance --quick          few repeats, fewer pages
    python -m tests.performance --only chain     one part; --json FILE keeps every single measurement

It is no test: whatever the figures are, it ends with 0 unless it could not measure. All runs happen in
processes of their own, one after the other and interleaved (A B A B …), so that a machine that grows busy is
busy for all of them alike; the table shows medians.
"""
