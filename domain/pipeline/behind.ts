import type { Artifact } from '../artifact';
import type { BehindView, HistoryRow } from '../views';
import { isKnownBad, type GoodDeploy, type PipelineState } from './state';

/**
 * Units that a deploy left out as unavailable, and that its follow-on did not bring to its version either, so there is no further
 * automatic try. The entry goes away once a newer version is deployed everywhere, or the deploy is undone.
 */
export const listBehind = (state: PipelineState): BehindView[] =>
  Object.entries(state.good).flatMap(([action, deploys]) => {
    const last = deploys.at(-1);
    const good = last?.by === undefined ? last : undefined;
    const row = good && lastFollowOn(state, action, good);
    if (!good || !row?.followOn || isUnderWay(state, action, good)) return [];
    const more = row.omitted?.units ?? 0;
    const units = row.state === 'succeeded' ? [] : row.followOn.units;
    if (units.length + more === 0) return [];
    const counted = more > 0 ? { more } : {};
    return [{ action, units, ...counted, version: good.version, release: row.number, bring: commandFor(state, good) }];
  });

const lastFollowOn = ({ history }: PipelineState, action: string, { release }: GoodDeploy): HistoryRow | undefined =>
  history.findLast(({ trigger, followOn }) => trigger.of === release && followOn?.action === action);

const isUnderWay = ({ active }: PipelineState, action: string, { release }: GoodDeploy): boolean =>
  active.some(({ trigger, followOn }) => trigger.of === release && followOn?.action === action);

/**
 * The inputs of the release that brought the version, as a person would name them; a placeholder for a newer version if it is known to be
 * bad.
 */
function commandFor(state: PipelineState, { release, artifacts }: GoodDeploy): string {
  const { spec, history } = state;
  const all = [...(history.find(({ number }) => number === release)?.artifacts ?? []), ...artifacts];
  const inputs = Object.keys(spec.artifacts).flatMap((name) => all.find((artifact) => artifact.name === name) ?? []);
  const isBad = all.some((artifact) => isKnownBad(state, artifact) !== undefined);
  const named = (artifact: Artifact) => (isBad ? `${artifact.name}=NEWER` : `${artifact.name}=${artifact.version}`);
  const given = inputs.length === 0 ? ['NAME=VERSION'] : inputs.map(named);
  return ['conveyor release', spec.pipeline, ...given.map((one) => `--artifact ${one}`)].join(' ');
}
