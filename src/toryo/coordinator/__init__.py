"""Observe, plan, act: starts the agents' processes that the server orders, and watches them.

It knows the server's address, its own token, how to start each provider and which processes it has started; of tasks
and statuses it knows nothing. `loop.Coordinator` is the whole, `reconcile` what it decides. The programs of our own
that it starts are in `toryo/agents/`.
"""
