/** A style sheet as text, which the element adopts; the build puts it in, with all that it imports. */
declare module "*.css" {
  const text: string;
  export default text;
}
