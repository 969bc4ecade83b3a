import type { Env } from './process';
import type { StackOptions } from './stack';

/** Keys of the seal, for servers, workers and operators who break the glass. */
export const KEYS: Env = { CONVEYOR_SEAL_KEYS: `k1:${Buffer.alloc(32, 'k').toString('base64')}` };

/** A stack set up as docs/guides/secure.md describes: every identity needs a key, every reader a token, and everything is recorded. */
export const secured = (config: object, env: Env = {}): StackOptions => ({
  config: {
    seal: { keysEnv: 'CONVEYOR_SEAL_KEYS' },
    audit: { file: 'audit.jsonl' },
    reads: 'authenticated',
    notifications: {},
    ...config,
  },
  env: { ...KEYS, ...env },
});
