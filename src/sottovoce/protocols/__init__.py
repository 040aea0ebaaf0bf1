"""The paper's protocols put together from mechanisms and projections."""
