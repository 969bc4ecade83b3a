import type { ConformCheck } from '../../sdk/conform/check';
import type { Reachable } from '../../sdk/conform/conversation';
import { conform, type Live } from '../../sdk/conform/run';
import type { Protocol } from '../../sdk/protocol/common';
import type { Fetch } from '../../sdk/request';

/** Services whose answers are changed on their way, for tests of the sentences that their authors get. */

export type Answer = Record<string, unknown>;
export type Lie = (answer: Answer, asked: Answer) => Answer;
/** A change of the answers of a method, and the field and value that its author learns. */
export type Plant = readonly [Lie, string];
/** By method and rule. */
export type Plants = Readonly<Record<string, Readonly<Record<string, Plant>>>>;
export type PlantsByKind = Readonly<Record<string, { readonly protocol: Protocol; readonly plants: Plants }>>;

export const rows = (answer: Answer, field: string): Answer[] => (answer[field] ?? []) as Answer[];
export const twice = (field: string): Lie => (answer) => ({ ...answer, [field]: rows(answer, field).flatMap((row) => [row, row]) }); // prettier-ignore
export const each = (field: string, change: object | ((row: Answer) => object)): Lie => (answer) => ({ ...answer, [field]: rows(answer, field).map((row) => ({ ...row, ...(typeof change === 'function' ? change(row) : change) })) }); // prettier-ignore

/** A field such as `units.0.live` with another value, in answers that have the rows above it. */
export const put =
  (path: string, value: unknown): Lie =>
  (answer) =>
    putIn(answer, path.split('.'), value) as Answer;

/** Written into the answer as it stands, since JSON.stringify has no `1e999` and no `NaN`. */
export const literally = (text: string): string => `literally ${text}`;

function putIn(within: unknown, [key = '', ...deeper]: readonly string[], value: unknown): unknown {
  const fields = within as Answer;
  if (deeper.length > 0) return key in fields ? copyWith(fields, key, putIn(fields[key], deeper, value)) : within;
  return Array.isArray(within) && !(key in fields) ? within : copyWith(fields, key, value);
}

const copyWith = (fields: Answer, key: string, value: unknown): unknown =>
  Object.assign(Array.isArray(fields) ? [...(fields as unknown[])] : { ...fields }, { [key]: value });

export function lying(honest: Fetch, method: string, lie: Lie): Fetch {
  return async (request, init) => {
    const asked = (await request.clone().json().catch(() => ({}))) as Answer; // prettier-ignore
    const answer = await honest(request, init);
    if (!request.url.endsWith(`/${method}`) || answer.status !== 200) return answer;
    const text = JSON.stringify(lie((await answer.json()) as Answer, asked));
    return new Response(text.replace(/"literally ([^"]*)"/g, '$1'));
  };
}

/** Each rule of each method of the protocols, by kind and method. */
export const rulesOf = (protocol: Protocol): string[] =>
  Object.entries(protocol).flatMap(([method, { contradictions = {} }]) =>
    Object.keys(contradictions).map((rule) => `${method}: ${rule}`),
  );

export const rulesBroken = (plants: Plants): string[] =>
  Object.entries(plants).flatMap(([method, own]) => Object.keys(own).map((rule) => `${method}: ${rule}`));

/** Rows for `test.each`. */
export const listPlants = (all: PlantsByKind): [string, string, string, Plant][] =>
  Object.entries(all).flatMap(([kind, { plants }]) =>
    Object.entries(plants).flatMap(([method, own]) =>
      Object.entries(own).map(([rule, plant]): [string, string, string, Plant] => [kind, method, rule, plant]),
    ),
  );

/** Why checks failed. */
export const listFailures = <S extends Reachable>(checks: readonly ConformCheck<S>[], subject: S): Promise<string[]> =>
  failedIn({ kind: 'service', checks, prepares: 'it', prepare: async () => subject });

export async function failedIn<S extends Reachable>(live: Live<S>): Promise<string[]> {
  const { checks } = await conform(live);
  return checks.flatMap(({ state, reason = '' }) => (state === 'failed' ? [reason] : []));
}
