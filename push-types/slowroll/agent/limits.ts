/**
 * Limits of an agent; docs/reference/agent.md lists them. The agent is one file without the sdk, so they are not in the table of the sdk.
 */

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
const GIGABYTE = 1024 * MEGABYTE;

export const AGENT_LIMITS = {
  /** Bytes of a manifest, and of any other answer of the server. */
  answerBytes: 4 * MEGABYTE,
  /** Bytes of a package as it is downloaded. */
  packageBytes: 2 * GIGABYTE,
  /** Bytes of all files of a package: a small archive can hold a large disk. */
  unpackedBytes: 8 * GIGABYTE,
  packageEntries: 200_000,
  /** Bytes of the output of a command that are kept; the end of it counts. */
  outputBytes: 64 * KILOBYTE,
  /** Bytes of `state=` in a poll; a longer state is sent as a report. */
  queryBytes: 4 * KILOBYTE,
  /** Characters of the reason of a failure. */
  reasonCharacters: 2000,
  /** Releases of a package that stay on the disk. */
  releases: 3,
  /** Versions of a package that may not return without a revert. */
  superseded: 200,
  /** Public keys of manifests. */
  keys: 16,
  labels: 64,
  /** How often a step that was interrupted begins again before it counts as failed. */
  begins: 5,
} as const;
