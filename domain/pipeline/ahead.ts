/** The number of the release of its pipeline that something waits for, by why it does (`obstacleTo`); undefined where it waits for none. */
export function releaseAhead(why: string): number | undefined {
  const number = /^release (\d+) (?:deploys|holds|comes first)\b/.exec(why)?.[1];
  return number === undefined ? undefined : Number(number);
}
