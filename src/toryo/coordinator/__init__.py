"""Observe, plan, act: starts the agents' processes that the server orders, and watches them.

It knows the server's address, its own token, how to start each provider and which processes it has started; of tasks
and statuses it knows nothing. `loop.Coordinator` is the whole; nothing is imported here, because agents' own programs
(`runners/`) start often and import this package.
"""
