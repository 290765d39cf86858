"""The privacy core: noise, budgets and the curator, the one door to exact counts."""
