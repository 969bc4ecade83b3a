import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { AuditRecord } from '../../domain/audit/record';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { PipelineStatus, ReleaseStatus } from '../../domain/views';
import { signer } from '../builders/signing';
import { ask, startFront, type Front } from './front';
import type { Ended } from './process';
import { secured } from './secured';
import { given, type Given, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/** Every user has a token: alice owns shops, bob is on call, carol is an admin of the platform, and mallory is the attacker. */
const PEOPLE = ['alice', 'bob', 'carol', 'mallory'] as const;
type Person = (typeof PEOPLE)[number];
const tokenOf = (name: Person): string => `token-of-${name}-in-the-system-tests`;
const variableOf = (name: Person): string => `TOKEN_OF_${name.toUpperCase()}`;

/** A build system whose signatures count. */
export const CI = signer();

const CONFIG = {
  tokens: PEOPLE.map((name) => ({ principal: `user:${name}`, tokenEnv: variableOf(name) })),
  webhooks: {
    github: { secretEnv: 'CONVEYOR_GITHUB_SECRET', repositories: ['acme/*'] },
    standard: { secretEnv: 'CONVEYOR_WEBHOOK_SECRET', finders: ['latest-build', 'manual', 'pipeline-output'] },
  },
  groups: { sre: ['user:bob'] },
  platform: {
    admins: ['user:carol'],
    pipelines: [
      { names: ['shop-*'], creators: ['user:alice'] },
      { names: ['evil-*'], creators: ['user:mallory'] },
    ],
    services: [
      { pushType: 'twine', units: ['shop-*'], owners: ['user:alice'] },
      { pushType: 'twine', units: ['evil-*'], owners: ['user:mallory'] },
    ],
    uses: [
      { kind: 'action-service', names: ['*'], by: ['user:alice', 'user:mallory'] },
      { kind: 'artifact-finder', names: ['commits'], by: ['user:alice'] },
    ],
    scripts: { by: ['user:alice'] },
    protection: [
      { pipelines: ['shop-*'], approvals: { count: 1, by: ['group:sre'] } },
      { pipelines: ['shop-signed-*'], signed: { by: ['ci'] } },
      { services: [{ pushType: 'twine', units: ['evil-guarded-*'] }], signed: { by: ['ci'] } },
    ],
    keys: { ci: CI.pem },
  },
};

/** The fields that an answer of the API may have. */
export interface Answer {
  readonly error?: { readonly code: string };
}

/** A stack set up as docs/guides/secure.md describes, with an attacker and the attacker's servers. */
export class Attacked {
  /** Requests to a listener on the worker's machine, which pipelines must not reach. */
  readonly heard: string[] = [];

  private constructor(
    readonly stack: Stack,
    readonly inside: string,
    private readonly servers: readonly Server[],
    public front: Front,
  ) {}

  static async open(): Promise<Attacked> {
    const bomb = createServer((_request, response) => explode(response));
    const heard: string[] = [];
    const inside = createServer((request, response) => response.end(heard.push(request.url ?? '')));
    const [profile, insideUrl] = await Promise.all([listening(bomb), listening(inside)]);
    const env = Object.fromEntries(PEOPLE.map((name) => [variableOf(name), tokenOf(name)]));
    const stack = await Stack.open({ ...secured(CONFIG, env), urls: { profile } });
    const attacked = new Attacked(stack, insideUrl, [bomb, inside], await startFront(stack));
    return Object.assign(attacked, { heard });
  }

  async close(): Promise<void> {
    for (const server of this.servers) server.close();
    await this.stack.close();
  }

  /** Starts a new process, which remembers nothing. */
  async restartServer(): Promise<void> {
    this.front.process.kill('SIGTERM');
    await this.front.process.ended;
    this.front = await startFront(this.stack);
  }

  /** A service of alice that meets its protection. */
  shop(more: Given = {}): Promise<Service> {
    const pipeline = { owners: ['user:alice'], emergency: { approvals: 1 }, ...more.pipeline };
    return given(this.stack, { ...more, pipeline });
  }

  /** A request of a user to the server. */
  as<T = Answer>(name: Person, method: 'GET' | 'POST' | 'PUT', path: string, body?: object) {
    return ask<T>(this.front, method, path, body, tokenOf(name));
  }

  /** A user at a separate command line, who reaches only the server. */
  types(name: Person, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const own = { CONVEYOR_SERVER: this.front.url, CONVEYOR_TOKEN: tokenOf(name), CONVEYOR_ACTOR: '' };
    return this.stack.conveyor(args, { ...own, TEMPORAL_ADDRESS: '127.0.0.1:1', ...env });
  }

  command(name: Person, verb: string, id: string, more: object = { reason: 'mine' }) {
    const [pipeline = '', ...rest] = id.split('/');
    const path = rest.length === 0 ? `pipelines/${pipeline}` : `releases/${id}`;
    return this.as(name, 'POST', `/v1/${path}/commands/${verb}`, more);
  }

  /** The request that the command line would send for a file without checking it. */
  applies(name: Person, source: PipelineSource) {
    return this.as(name, 'PUT', `/v1/pipelines/${source.pipeline}`, pipelineSchema.parse(source));
  }

  releases(name: Person, pipeline: string, version: string) {
    const artifacts = [{ name: 'executable', version }];
    return this.as(name, 'POST', `/v1/pipelines/${pipeline}/releases`, { artifacts });
  }

  async pipeline(name: string): Promise<PipelineStatus> {
    return (await this.as<PipelineStatus>('carol', 'GET', `/v1/pipelines/${name}`)).body;
  }

  /** Waits until a release is as described. */
  release(id: string, what: string, holds: (release: ReleaseStatus) => boolean): Promise<ReleaseStatus> {
    return eventually(`${id} ${what}`, async () => {
      const { body } = await this.as<ReleaseStatus>('carol', 'GET', `/v1/releases/${id}`);
      return holds(body) && body;
    });
  }

  ended(id: string): Promise<ReleaseStatus> {
    return this.release(id, 'has ended', ({ endedAt }) => endedAt !== null);
  }

  /** Waits for a record of a user (null: an unknown one) whose `result` begins with this text. By default a refusal at the API. */
  async onRecord(actor: string | null, { result, ...wanted }: Partial<AuditRecord>): Promise<void> {
    const fields = Object.entries({ actor, door: 'api', outcome: 'refused', ...wanted });
    const query = actor === null ? '' : `&actor=${actor}`;
    await eventually(`the audit has ${JSON.stringify({ actor, ...wanted, result })}`, async () => {
      const { body } = await this.as<{ records: AuditRecord[] }>('carol', 'GET', `/v1/audit?limit=100${query}`);
      return body.records.some(
        (record) =>
          fields.every(([key, value]) => record[key as keyof AuditRecord] === value) &&
          (record.result ?? '').startsWith(result ?? ''),
      );
    });
  }
}

/** A pipeline of mallory. */
export const evil = (name: string, more: Partial<PipelineSource> = {}): PipelineSource => ({
  ...{ pipeline: `evil-${name}`, owners: ['user:mallory'], artifacts: { executable: { finder: 'manual' } } },
  ...{ actions: { test: { type: 'integr-test', inputs: ['executable'] } }, ...more },
});

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );

/** Compressed zeros, for as long as a client reads. */
function explode(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  const member = gzipSync(Buffer.alloc(16_000_000));
  const more = (): void => {
    while (!response.destroyed && response.write(member));
  };
  response.on('drain', more);
  more();
}
