"""What an attacker with background knowledge learns from an attribute, a set of attributes, a release (P1)."""
