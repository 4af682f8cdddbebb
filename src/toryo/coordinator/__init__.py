"""The Coordinator observes, plans and acts: it starts the agents' processes that the server orders, and monitors them.

It knows the server's address, its own token, how to start each provider and which processes it has started, but nothing
of tasks and statuses. `loop.Coordinator` runs it, `reconcile` decides. Toryo's own agent programs are in
`toryo/agents/`.
"""
