"""What section 6 of htf-2022, on a whole country, claims: `claims` checks, `reference` compares."""
