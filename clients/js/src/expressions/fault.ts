/** What is wrong with a query, and the integers that one may reach. */
import { QueryError } from "../core/errors.js";

export const SMALLEST = -(2n ** 63n);
export const LARGEST = 2n ** 63n - 1n;

/** The error of a query that cannot be asked; says what is allowed. */
export const fault = (message: string): QueryError => new QueryError(`the survey's query cannot be asked: ${message}`);
