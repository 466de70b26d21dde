"""What users write, turned into the IR: one subpackage per notation, and the character sets that they share."""
