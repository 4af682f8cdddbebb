"""Crews that obey while everything around them changes, at every step.

At each step the explorer tries everything that people, processes, Coordinators, time and chat can do (100 to 350
disturbances; with `--second`, another one after it). Then every agent obeys until nothing moves. Every rule of
tests/invariants.py must hold: no agent may be led in a circle, started for nothing, punished for obeying, or left in
progress without a need. A state that was already checked is not explored again.

    python -m tests.exploring --minutes 30                          # all crews, each disturbance once
    python -m tests.exploring small --share 0.1 --second 0.05       # a sample, and a second one after it
    python -m tests.exploring deep --only "gives|files" --inside 1  # also between the calls of one step
    python -m tests.exploring small --exhaustive 3 --steps-only     # every order of steps up to a depth
    python -m tests.exploring.mutants 30                            # what it finds in a product that is broken
    TORYO_TEST_EXPLORE=1 make test ARGS=tests/operations/test_exploring.py    # up to 10,000 histories of each crew
    TORYO_TEST_SEEDS=1000 make test ARGS=tests/operations/test_people_between.py  # stories left to chance

The crews are in scenes.py, the disturbances in disturbances.py. A fault is printed with its story, which
`Explorer(scene, database).replay("12: …")` replays; the shortest of each kind also as a test: fix the cause, and paste
the test into tests/operations/test_histories.py. One core runs 20 to 150 histories a second.
"""
