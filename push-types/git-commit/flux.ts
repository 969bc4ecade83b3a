import { z } from 'zod';
import { explainAnswer } from './argocd';
import { httpGet } from './httpGet';
import type { WaitSettings } from './settings';
import { fillPlaces } from './units';
import { checkRevisions, observe, type CheckRevision, type Observation, type Watcher } from './watcher';

/** The part of a Kustomization (v1) or HelmRelease (v2) of Flux that says what is live. */
const fluxSchema = z.object({
  metadata: z.object({ generation: z.number() }),
  spec: z.object({ suspend: z.boolean().optional() }).optional(),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      lastAppliedRevision: z.string().optional(),
      lastAttemptedRevision: z.string().optional(),
      conditions: z
        .array(
          z.object({
            type: z.string(),
            status: z.enum(['True', 'False', 'Unknown']),
            reason: z.string().default(''),
            message: z.string().default(''),
          }),
        )
        .optional(),
    })
    .optional(),
});
type FluxObject = z.infer<typeof fluxSchema>;

/** Reasons with which Flux tries again by itself, and that say nothing about the version. */
const PASSING_REASONS = [
  'DependencyNotReady',
  'ArtifactFailed',
  'Progressing',
  'ProgressingWithRetry',
  'SourceNotReady',
];

/** Live: a revision with the change was applied, and the object is ready. */
export function watchFlux(settings: Extract<WaitSettings, { flux: string }>): Watcher {
  return async (place, check) => {
    const fill = (text: string): string => fillPlaces(text, place, place.cluster);
    const isHelm = settings.helmRelease !== undefined;
    const name = fill(settings.helmRelease ?? settings.kustomization ?? '');
    try {
      const [namespace = '', object = ''] = name.split('/');
      const group = isHelm ? 'helm.toolkit.fluxcd.io/v2' : 'kustomize.toolkit.fluxcd.io/v1';
      const kind = isHelm ? 'helmreleases' : 'kustomizations';
      const url = `${fill(settings.flux).replace(/\/+$/, '')}/apis/${group}/namespaces/${encodeURIComponent(namespace)}/${kind}/${encodeURIComponent(object)}`;
      const text = await httpGet(url, { ...settings, timeoutMs: settings.answer });
      return await judgeFlux(fluxSchema.parse(JSON.parse(text)), isHelm, check);
    } catch (error) {
      return observe('silent', `Flux says nothing about ${name}: ${explainAnswer(error)}`);
    }
  };
}

async function judgeFlux(
  { metadata, spec, status = {} }: FluxObject,
  isHelm: boolean,
  check: CheckRevision,
): Promise<Observation> {
  const { conditions = [], lastAppliedRevision, lastAttemptedRevision } = status;
  const find = (type: string) => conditions.find((one) => one.type === type);
  const ready = find('Ready');
  if (spec?.suspend) return observe('waiting', 'it is suspended in Flux: resume it');
  if (status.observedGeneration !== metadata.generation) return observe('waiting', 'Flux has not seen its newest form');
  if (ready === undefined) return observe('silent', 'Flux does not say whether it is ready');
  const revision = parseFluxCommit((isHelm ? lastAttemptedRevision : lastAppliedRevision) ?? '');
  const attempted = parseFluxCommit(lastAttemptedRevision ?? lastAppliedRevision ?? '');
  if (ready.status === 'False') {
    const isStalled = find('Stalled')?.status === 'True';
    const { isThere, reason } = await checkRevisions([attempted], check);
    const words = `Flux: ${ready.reason}: ${ready.message}`;
    if (!isThere) return observe('waiting', `${words} (${reason})`);
    return observe(isStalled || !PASSING_REASONS.includes(ready.reason) ? 'failed' : 'waiting', words);
  }
  if (isHelm && revision === '')
    return observe('waiting', 'the version of its chart names no commit: set reconcileStrategy: Revision for it');
  const { isThere, reason } = await checkRevisions([revision], check);
  if (!isThere) return observe('waiting', `Flux: ${reason}`);
  return ready.status === 'True'
    ? observe('live', 'Flux calls it ready')
    : observe('waiting', `Flux: ${ready.reason}: ${ready.message}`);
}

/** `main@sha1:4f0c…`, `main/4f0c…`, or the version of a chart with a commit, `1.2.0+4f0c1d2e3a4b`. */
const parseFluxCommit = (revision: string): string =>
  /(?:^|[:/@+.])([0-9a-f]{40}(?:[0-9a-f]{24})?)$/.exec(revision)?.[1] ??
  /\+(?:.*\.)?([0-9a-f]{12})$/.exec(revision)?.[1] ??
  '';
