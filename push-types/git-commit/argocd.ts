import { z } from 'zod';
import { httpGet } from './httpGet';
import type { WaitSettings } from './settings';
import { fillPlaces } from './units';
import { checkRevisions, observe, cutToLine, type Watcher } from './watcher';

/** The part of an Application of Argo CD that says what is live (its API: `GET /api/v1/applications/{name}`). */
const applicationSchema = z.object({
  status: z
    .object({
      sync: z
        .object({ status: z.string(), revision: z.string().optional(), revisions: z.array(z.string()).optional() })
        .optional(),
      health: z.object({ status: z.string().optional(), message: z.string().optional() }).optional(),
      operationState: z
        .object({
          phase: z.string(),
          message: z.string().optional(),
          syncResult: z
            .object({ revision: z.string().optional(), revisions: z.array(z.string()).optional() })
            .nullish(),
        })
        .nullish(),
      conditions: z.array(z.object({ type: z.string(), message: z.string().default('') })).nullish(),
      resources: z
        .array(
          z.object({
            kind: z.string().default(''),
            name: z.string().default(''),
            health: z.object({ status: z.string().optional(), message: z.string().optional() }).nullish(),
          }),
        )
        .nullish(),
    })
    .optional(),
});
type ApplicationStatus = NonNullable<z.infer<typeof applicationSchema>['status']>;

/** Live: synced to a revision with the change, healthy, and no sync under way. */
export function watchArgocd(settings: Extract<WaitSettings, { argocd: string }>): Watcher {
  /** The commit for which each application was last refreshed: Argo CD itself looks at Git every three minutes. */
  const refreshed = new Map<string, string>();
  return async (place, check) => {
    const name = fillPlaces(settings.application, place, place.cluster);
    const url = new URL(
      `${fillPlaces(settings.argocd, place, place.cluster).replace(/\/+$/, '')}/api/v1/applications/${encodeURIComponent(name)}`,
    );
    if (settings.appNamespace !== undefined) url.searchParams.set('appNamespace', settings.appNamespace);
    const isNew = place.commit !== undefined && refreshed.get(name) !== place.commit;
    if (isNew) url.searchParams.set('refresh', 'normal');
    try {
      const text = await httpGet(url.href, { ...settings, timeoutMs: settings.answer });
      const { status = {} } = applicationSchema.parse(JSON.parse(text));
      if (place.commit !== undefined) refreshed.set(name, place.commit);
      return await judgeApplication(status, check);
    } catch (error) {
      return observe('silent', `Argo CD says nothing about ${name}: ${explainAnswer(error)}`);
    }
  };
}

async function judgeApplication(status: ApplicationStatus, check: Parameters<Watcher>[1]) {
  const { sync, health, operationState: operation, conditions } = status;
  if (operation && ['Failed', 'Error'].includes(operation.phase)) {
    const failed = await checkRevisions(listRevisions(operation.syncResult), check);
    if (failed.isThere) return observe('failed', `Argo CD could not sync it: ${operation.message ?? operation.phase}`);
  }
  const trouble = (conditions ?? []).filter(({ type }) => type.endsWith('Error')).map(({ message }) => message);
  if (sync === undefined || sync.status === 'Unknown')
    return observe('silent', `Argo CD does not know whether it is synced: ${trouble.join('; ')}`);
  const { isThere, reason } = await checkRevisions(listRevisions(sync), check);
  if (!isThere) return observe('waiting', `Argo CD: ${[reason, ...trouble].join('; ')}`);
  if (sync.status !== 'Synced') return observe('waiting', `Argo CD calls it ${[sync.status, ...trouble].join(': ')}`);
  if (operation && ['Running', 'Terminating'].includes(operation.phase)) return observe('waiting', 'Argo CD syncs it');
  if (health?.status === 'Healthy') return observe('live', 'Argo CD calls it synced and healthy');
  const words = `Argo CD calls it ${describeHealth(status)}`;
  if (health?.status === 'Degraded') return observe('failed', words);
  return observe(WAITING_HEALTH.includes(health?.status ?? '') ? 'waiting' : 'silent', words);
}

const WAITING_HEALTH = ['Progressing', 'Suspended', 'Missing'];

const listRevisions = (
  from: { revision?: string | undefined; revisions?: string[] | undefined } | null | undefined,
) => [...(from?.revisions ?? []), from?.revision ?? ''];

function describeHealth({ health, resources }: ApplicationStatus): string {
  const bad = (resources ?? [])
    .filter((one) => one.health?.status === health?.status && one.health?.message)
    .slice(0, 3)
    .map(({ kind, name, health: own }) => `${kind} ${name}: ${own?.message}`);
  return [health?.status ?? 'nothing', health?.message ?? '', ...bad].filter((word) => word !== '').join(': ');
}

/** Why an answer is no answer. */
export const explainAnswer = (error: unknown): string =>
  error instanceof z.ZodError
    ? `its answer is not as its API says (${error.issues[0]?.path.map(String).join('.')}: ${error.issues[0]?.message})`
    : cutToLine(error instanceof Error ? error.message : String(error));
