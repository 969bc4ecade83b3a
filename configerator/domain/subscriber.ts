/** The contents of a version of configuration, by path; a value of null means that the path is deleted. */
export type Content = Readonly<Record<string, { readonly value: string | null; readonly version: string }>>;

/** A subscriber's state of a path. */
export interface Has {
  readonly path: string;
  /** Empty if the path is deleted. */
  readonly version: string;
  /** The revision of its override: `N@commit`. */
  readonly revision: string | null;
  readonly commit: string | null;
  readonly sequence?: number | undefined;
  readonly refused?: string | undefined;
  readonly loading?: string | undefined;
}

export type SubscriberState = 'live' | 'waiting' | { readonly refused: string };

/** Whether a subscriber has a content; paths that it does not subscribe to are ignored. */
export function subscriberState(content: Content, has: readonly Has[]): SubscriberState {
  let state: SubscriberState = 'live';
  for (const { path, version, refused, loading } of has) {
    const wanted = Object.hasOwn(content, path) ? content[path] : undefined;
    if (wanted === undefined) continue;
    if (version !== wanted.version) state = 'waiting';
    else if (refused !== undefined) return { refused: `${path}: ${refused}` };
    else if (loading !== undefined) state = 'waiting';
  }
  return state;
}

type KnownCommit = Pick<Has, 'revision' | 'commit' | 'sequence'>;

/**
 * The name under which a subscriber reports metrics: `host@N@commit` with an override, else `host@commit`. With several
 * paths, that of the newest change, else of the newest commit.
 */
export function subscriberId(host: string, has: readonly KnownCommit[]): string {
  const exposed = has
    .flatMap(({ revision }) => revision ?? [])
    .sort((a, b) => parseChangeNumber(b) - parseChangeNumber(a));
  const commits = has.filter(({ commit }) => commit !== null).sort((a, b) => (b.sequence ?? 0) - (a.sequence ?? 0));
  return `${host}@${exposed[0] ?? commits[0]?.commit ?? 'none'}`;
}

/** Each name under which a subscriber may measure: the name of any of these paths, or of everything that it reads. */
export const subscriberIds = (host: string, some: readonly KnownCommit[], all: readonly KnownCommit[]): string[] => [
  ...new Set([...some.map((one) => subscriberId(host, [one])), subscriberId(host, all)]),
];

/** The number in `N@commit`. */
const parseChangeNumber = (revision: string): number => Number.parseInt(revision, 10) || 0;
