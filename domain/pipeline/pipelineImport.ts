import { formatIdentity } from '../artifact';
import { isJsonObject, type JsonObject } from '../json';
import { PRINCIPAL } from '../principals';
import type { GoodDeploy, PipelineState } from './state';

/** Replaces every person named in a file, because the platform has not seen them act. */
const IMPORTED_ACTOR = 'service:import';
const IMPORTED = 'imported: ';

type AttributedRecords = Pick<PipelineState, 'good' | 'history' | 'commands' | 'knownBad' | 'held' | 'frozen'>;

/**
 * Marks records that exist only in a file permanently as imported: no person did any of this here, and no worker saw the versions that they
 * call good. The pipeline's own records stay unchanged.
 */
export function asImported<R extends AttributedRecords>(records: R, state: PipelineState | null): R {
  const known = new Set(state?.commands.map(formatSortedFields));
  return {
    ...records,
    good: Object.fromEntries(
      Object.entries(records.good).map(([action, deploys]) => [
        action,
        deploys.map((deploy) => state?.good[action]?.find((own) => isSameDeploy(own, deploy)) ?? markImported(deploy)),
      ]),
    ),
    history: records.history.map((row) => ({ ...removePrincipals(row), artifacts: row.artifacts, imported: true })),
    commands: records.commands.filter((one) => !known.has(formatSortedFields(one))).map(removePrincipals),
    knownBad: records.knownBad.map(removePrincipals),
    ...{ held: removePrincipals(records.held), frozen: removePrincipals(records.frozen) },
  };
}

/** Only workers know the units that it held, and the time that it ran. */
const markImported = ({ held: _held, ranMs: _ranMs, ...deploy }: GoodDeploy): GoodDeploy => ({
  ...{ ...deploy, since: null, imported: true },
});

const isSameDeploy = (one: GoodDeploy, other: GoodDeploy): boolean =>
  one.release === other.release && joinIdentities(one) === joinIdentities(other);

const joinIdentities = ({ artifacts }: GoodDeploy): string => artifacts.map(formatIdentity).sort().join('\n');

/**
 * Replaces each principal by `service:import`, and removes the rule that admitted it; texts say that they were
 * imported.
 */
function removePrincipals<T>(value: T): T {
  if (Array.isArray(value)) return value.map(removePrincipals) as T;
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value as JsonObject).flatMap(([key, part]): [string, unknown][] => {
    if (key === 'permitted' || key === 'vouched') return [];
    if (typeof part !== 'string') return [[key, removePrincipals(part)]];
    if (PRINCIPAL.test(part)) return [[key, IMPORTED_ACTOR]];
    return [[key, TEXT_FIELDS.has(key) && !part.startsWith(IMPORTED) ? `${IMPORTED}${part}` : part]];
  });
  return Object.fromEntries(entries) as T;
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['reason', 'rejection']);

/** The same text for equal values, with their fields in any order. */
export const formatSortedFields = (value: object): string => JSON.stringify(Object.entries(value).sort());
