/** A change that the landing strip has answered. */
export interface Acknowledged {
  readonly change: number;
  readonly commit: string;
  readonly path: string;
  readonly value: number;
}

/** The promises, and their results. */
export interface LandedBooks {
  readonly acknowledged: readonly Acknowledged[];
  /** Commits of the branch, oldest first. */
  readonly branch: readonly { readonly change: number | null; readonly commit: string }[];
  readonly store: { readonly sequence: number; readonly commit: string } | undefined;
  /** The values that applications got, each in its order; `of` names a commit, or the change of an override. */
  readonly got: readonly { readonly host: string; readonly value: number; readonly of: string }[];
  /** By host the path that it reads. */
  readonly paths: ReadonlyMap<string, string>;
}

/** The faults: lost or repeated commits, a store that differs from the branch, and what applications should not have got. */
export const judgeBooks = (books: LandedBooks): string[] => [...judgeBranch(books), ...judgeHosts(books)];

function judgeBranch({ acknowledged, branch, store }: LandedBooks): string[] {
  const wrong: string[] = [];
  const commits = new Map(branch.map(({ change, commit }) => [change, commit]));
  if (commits.size !== branch.length) wrong.push('a change landed twice');
  for (const { change, commit } of acknowledged)
    if (commits.get(change) !== commit) wrong.push(`change ${change} was answered with ${commit} and is lost`);
  const asked = new Set(acknowledged.map(({ change }) => change));
  for (const { change } of branch)
    if (change === null || !asked.has(change)) wrong.push(`change ${change} landed, which nobody asked for`);
  if (store?.sequence !== branch.length || store.commit !== branch.at(-1)?.commit)
    wrong.push(`the store is at ${store?.sequence} ${store?.commit}, the branch at ${branch.length}`);
  return wrong;
}

/** Values that applications got were committed, to their path and with this value, came in the order of commits, and ended at
 * the newest. */
function judgeHosts({ acknowledged, branch, got, paths }: LandedBooks): string[] {
  const known = new Map(acknowledged.map((one) => [one.commit, one]));
  const places = new Map(branch.map(({ commit }, at) => [commit, at]));
  const has = new Map<string, string>();
  const wrong: string[] = [];
  for (const { host, value, of } of got) {
    const { path, value: committed } = known.get(of) ?? {};
    if (committed !== value || path !== paths.get(host)) wrong.push(`${host} got ${value} of ${of}, not committed`);
    if ((places.get(of) ?? -1) <= (places.get(has.get(host) ?? '') ?? -1)) wrong.push(`${host} went back to ${of}`);
    has.set(host, of);
  }
  for (const [host, path] of paths) {
    const newest = branch.findLast(({ commit }) => known.get(commit)?.path === path)?.commit;
    if (has.get(host) !== newest) wrong.push(`${host} ends at ${has.get(host)}, and ${newest} is the newest`);
  }
  return wrong;
}
