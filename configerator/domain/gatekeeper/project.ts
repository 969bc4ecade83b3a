/** The user of a gate check. A missing field implies nothing: a restraint on it does not hold. */
export interface GateUser {
  /** Empty if no user is signed in: then no `bucket` holds, and a `pass` below 1 admits no user. */
  readonly id: string;
  readonly employee?: boolean | undefined;
  /** In the notation of the application, such as `AT`; compared exactly, like all fields below. */
  readonly country?: string | undefined;
  readonly region?: string | undefined;
  /** `de-AT`, or `de_AT`; a restraint on `de` holds too. */
  readonly locale?: string | undefined;
  readonly app?: string | undefined;
  /** `1.2.3` or `1.2.3-beta.1`; `1.2` is `1.2.0`, and `1.2.3.4` is `1.2.3`. */
  readonly appVersion?: string | undefined;
  readonly device?: string | undefined;
  /** ms since the epoch, as `Date.now()` counts; any value other than a finite number leaves `new-user` undecided. */
  readonly createdAt?: number | undefined;
}

/** The fields of a user that a restraint compares with a list. */
export type ListedField = 'id' | 'country' | 'region' | 'locale' | 'app' | 'device';

/** A predicate on a user. `not` inverts it; an undecided one stays undecided. */
export type Restraint = { readonly not?: boolean } & (
  | { readonly restraint: 'employee' }
  | { readonly restraint: ListedField; readonly in: readonly string[] }
  /** At least `min`, and less than `below`. */
  | { readonly restraint: 'app-version'; readonly min?: string; readonly below?: string }
  | { readonly restraint: 'new-user'; readonly days: number }
  /** A part of all users, from 0 to 1. Another `salt` selects others, the same in every project. */
  | { readonly restraint: 'bucket'; readonly salt: string; readonly from: number; readonly to: number }
  /** A part of the users in the sampling order of this project's `pass`; deploys widen it. */
  | { readonly restraint: 'slice'; readonly from: number; readonly to: number }
  /** A key-value store has a value above this under `<project>-<user>`. */
  | { readonly restraint: 'laser'; readonly above: number }
);

/** A rule of a project: its restraints select users, and `pass` is the share of them that passes. */
export interface GateRule {
  /** Its name for people and push types. */
  readonly name?: string;
  /** All of them have to hold; an empty list holds for everyone. */
  readonly if: readonly Restraint[];
  /** The share that passes, 0 to 1, to six decimals. */
  readonly pass: number;
}

/** The first rule whose restraints all hold decides. If there is none, no user passes. */
export interface Project {
  readonly rules: readonly GateRule[];
}

export interface ProjectProblem {
  /** `rules[0].if[1].days` */
  readonly path: string;
  readonly why: string;
}
