"""A team of scripted agents on the real operations, with a virtual clock: what `toryo simulate` runs.

| File | What |
|---|---|
| `virtual_time.py` | the clock, its heap of events, and the threads that take turns on it |
| `world.py` | the real operations on a database in memory; calls, and waiting for hints |
| `behaviours.py` | the table of behaviours |
| `programs.py` | an agent's program: the runners of `agents/`, on virtual time |
| `coordinator.py` | carries out the plan of the real Coordinator with such programs |
| `run.py` | one run from the first task to its end |
| `waiting.py` | what tasks wait for, and for how long |
| `unfinished.py` | why tasks were not completed |
| `results.py` | what is measured, from counts and from the events |
| `rows.py` | a run in the terminal |
| `forecast.py` | many runs of what is left of a project, and the ranges that follow |
| `recording.py` | durations, failures and tokens of a recorded project |
"""
