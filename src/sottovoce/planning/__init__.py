"""Planning a survey: its design, the number of people, epsilon and the error."""
