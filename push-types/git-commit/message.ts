import type { UpdateOrigin } from './commitState';

/** The message of a commit: for people, and with trailers by which a repeated update is found. Pure. */

/** One field that a commit changes. */
export interface FieldChange {
  readonly unit: string;
  readonly cluster: string;
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

export interface CommitReason {
  readonly updateId: string;
  readonly version: string;
  readonly origin: UpdateOrigin | undefined;
  /** The updates that it takes back. */
  readonly updatedBy: readonly string[];
}

const MOST_LISTED = 50;

export function writeMessage(
  { updateId, version, origin, updatedBy }: CommitReason,
  changes: readonly FieldChange[],
): string {
  const [first] = changes;
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : '';
  const verb = updatedBy.length > 0 ? 'Revert' : 'Deploy';
  const goal = updatedBy.length > 0 ? `to ${version}` : version;
  const release = origin === undefined ? 'unknown' : `${origin.pipeline}/${origin.release}`;
  const why =
    updatedBy.length > 0
      ? `It takes back ${updatedBy.map(toLine).join(', ')}: the version was not good, or a person asked for it.`
      : `It brings ${toLine(version)} as a phase of this release.`;
  const lines = changes
    .slice(0, MOST_LISTED)
    .map(({ unit, cluster, path, from, to }) => toLine(`- ${unit}/${cluster}: ${from} -> ${to} in ${path}`));
  return [
    toLine(`${verb} ${goal} on ${first?.unit}/${first?.cluster}${more}`).slice(0, 100),
    '',
    toLine(
      `Release ${release} of the pipeline ${origin?.pipeline ?? 'unknown'}, started by ${origin?.actor ?? 'unknown'}.`,
    ),
    why,
    '',
    ...lines,
    '',
    nameUpdate(updateId),
    `Conveyor-Release: ${toLine(release)}`,
    `${VERSION_TRAILER}${toLine(version)}`,
    ...changes.map(({ unit, cluster }) => nameCluster(unit, cluster)),
    '',
  ].join('\n');
}

/** The trailer of an update. */
export const nameUpdate = (updateId: string): string => `${UPDATE_TRAILER}${toLine(updateId)}`;

/** The trailer of a cluster whose field a commit changes. */
const nameCluster = (unit: string, cluster: string): string => `Conveyor-Cluster: ${unit}/${cluster}`;

/** Whether a commit says that it changed the field of a cluster. */
export const mentionsCluster = (message: string, unit: string, cluster: string): boolean =>
  message.split('\n').includes(nameCluster(unit, cluster));

/** The update and version of a commit of this push type. */
export function readTrailers(message: string): { updateId: string; version: string } | undefined {
  const find = (key: string): string | undefined =>
    message
      .split('\n')
      .findLast((line) => line.startsWith(key))
      ?.slice(key.length);
  const [updateId, version] = [find(UPDATE_TRAILER), find(VERSION_TRAILER)];
  return updateId === undefined || version === undefined ? undefined : { updateId, version };
}

const UPDATE_TRAILER = 'Conveyor-Update: ';
const VERSION_TRAILER = 'Conveyor-Version: ';

/** Names come from pipelines: none of them makes a second line. */
const toLine = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ').slice(0, 600);
