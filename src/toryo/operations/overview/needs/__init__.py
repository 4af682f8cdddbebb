"""What needs people: `finding.py` lists the sources, and there is one module per subject of them."""
