/** The number of the release in the same pipeline that an action waits for, taken from its reason (`obstacleTo`); undefined if it waits for none. */
export function releaseAhead(why: string): number | undefined {
  const number = /^release (\d+) (?:deploys|holds|comes first)\b/.exec(why)?.[1];
  return number === undefined ? undefined : Number(number);
}
