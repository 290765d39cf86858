"""EXACT. The door: the curator, accounts, noise, the ledger; `audit` looks for breaches."""
