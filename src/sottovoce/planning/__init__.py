"""Before a survey is published: which design, how many people, what epsilon, what error."""
