/** Answers of Argo CD and Flux, in the shapes of their public APIs: Application v1alpha1, Kustomization v1 and HelmRelease v2. */

export interface ApplicationParts {
  readonly revision?: string;
  readonly revisions?: readonly string[];
  readonly sync?: string;
  readonly health?: string;
  readonly phase?: string;
  /** The revision of the last sync. */
  readonly operation?: string;
  readonly message?: string;
}

export function makeApplication({
  revision,
  revisions,
  sync = 'Synced',
  health = 'Healthy',
  phase = 'Succeeded',
  operation,
  message,
}: ApplicationParts) {
  const source = { repoURL: 'https://git.example.com/deployments.git', path: 'clusters/eu', targetRevision: 'main' };
  const name = 'web-eu-1';
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace: 'argocd', generation: 7 },
    spec: { project: 'default', source, destination: { server: 'https://kubernetes.default.svc', namespace: 'web' } },
    status: {
      resources: [
        {
          group: 'apps',
          version: 'v1',
          kind: 'Deployment',
          namespace: 'web',
          name: 'web',
          status: sync,
          health: { status: health, ...(message && { message }) },
        },
        { version: 'v1', kind: 'Service', namespace: 'web', name: 'web', status: sync },
      ],
      sync: { status: sync, comparedTo: { source }, ...(revision && { revision }), ...(revisions && { revisions }) },
      health: { status: health },
      reconciledAt: '2026-11-29T12:00:00Z',
      operationState: {
        ...{ phase, message: message ?? 'successfully synced (all tasks run)', startedAt: '2026-11-29T12:00:00Z' },
        syncResult: { revision: operation ?? revision ?? '', source },
      },
      sourceType: 'Kustomize',
    },
  };
}

export interface FluxParts {
  readonly applied?: string;
  readonly attempted?: string;
  readonly ready?: 'True' | 'False' | 'Unknown' | null;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly suspend?: boolean;
}

const makeStatus = ({
  applied,
  attempted,
  ready = 'True',
  reason = 'ReconciliationSucceeded',
  message = 'Applied',
  observedGeneration = 2,
}: FluxParts) => ({
  conditions: [
    ...(ready === null
      ? []
      : [
          {
            type: 'Ready',
            status: ready,
            reason,
            message,
            observedGeneration,
            lastTransitionTime: '2026-11-29T12:00:00Z',
          },
        ]),
    ...(ready === 'Unknown'
      ? [{ type: 'Reconciling', status: 'True', reason, message, lastTransitionTime: '2026-11-29T12:00:00Z' }]
      : []),
  ],
  observedGeneration,
  ...(applied && { lastAppliedRevision: applied }),
  ...((attempted ?? applied) && { lastAttemptedRevision: attempted ?? applied }),
});

export const makeKustomization = (parts: FluxParts) => ({
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'web', namespace: 'apps', generation: 2 },
  spec: {
    interval: '10m',
    path: './clusters/eu',
    prune: true,
    wait: true,
    sourceRef: { kind: 'GitRepository', name: 'deployments' },
    ...(parts.suspend && { suspend: true }),
  },
  status: makeStatus(parts),
});

export const makeHelmRelease = (parts: FluxParts) => ({
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: { name: 'web', namespace: 'apps', generation: 2 },
  spec: {
    interval: '10m',
    chart: {
      spec: {
        chart: './charts/web',
        reconcileStrategy: 'Revision',
        sourceRef: { kind: 'GitRepository', name: 'deployments' },
      },
    },
  },
  status: makeStatus({ reason: 'UpgradeSucceeded', ...parts }),
});
