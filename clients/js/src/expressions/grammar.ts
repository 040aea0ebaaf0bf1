/** What an expression is, once it has been read. */

/** An integer is a bigint, a real a number; an operation is its name and its arguments. */
export type Tree = boolean | bigint | number | string | Operation;
export type Operation = readonly [string, ...(Tree | readonly Tree[])[]];
