import { decideAccess, type AccessDecision } from '../../domain/access/decide';
import type { RequestFacts } from '../../domain/access/request';
import type { OperationName } from '../../domain/access/operations';
import type { PlatformFacts } from '../../domain/access/platform';
import { parseRegistry } from '../../settings/registry';
import { specOf } from './pipelineWorld';

/** A company with a platform team, two teams that own services, and a protected pipeline. */
export const CONFIG = {
  extensions: ['twine'].map((name) => ({ name, kind: 'push-type', url: 'http://localhost:1' })),
  groups: {
    platform: ['user:root'],
    storage: ['user:alice', 'user:bob'],
    web: ['user:wendy'],
    sre: ['user:sam', 'user:sue', 'user:alice'],
  },
  platform: {
    admins: ['group:platform'],
    pipelines: [
      { names: ['storage-*', 'kvstore', 'prod-*'], creators: ['group:storage'], parents: ['release-train'] },
      { names: ['web-*'], creators: ['group:web'] },
    ],
    services: [{ pushType: 'twine', units: ['kvstore-*'], owners: ['group:storage'] }],
    uses: [{ kind: 'mutex', names: ['region-*'], by: ['group:storage'] }],
    scripts: { by: ['group:platform'] },
    protection: [
      {
        pipelines: ['prod-*'],
        approvals: { count: 2, by: ['group:sre'] },
        requires: { checks: ['errors'], soak: '1h', windows: true },
      },
    ],
  },
};

export const facts = (platform: object | null = CONFIG.platform): PlatformFacts =>
  parseRegistry({ ...CONFIG, ...(platform === null ? { platform: undefined } : { platform }) }, {});

/** The command line's answer to a caller's request on the pipeline of storage. */
export const asked = (
  who: string | null,
  verb: OperationName,
  what: Partial<RequestFacts> = {},
  of = facts(),
): AccessDecision =>
  decideAccess(of, {
    who: { principal: who, door: 'command-line' },
    verb,
    what: { pipeline: 'kvstore', owners: ['group:storage'], spec: specOf(), ...what },
  });

export const why = (decision: AccessDecision): string =>
  decision.allowed
    ? `yes: ${decision.by}${decision.through === null ? '' : ` through ${decision.through}`}`
    : decision.why;
