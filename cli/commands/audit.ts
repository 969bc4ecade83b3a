import { Option } from 'commander';
import { askAt } from '../../client/http/client';
import type { Link } from '../../domain/audit/chain';
import { AUDIT_OUTCOMES, type AuditRecord } from '../../domain/audit/record';
import { conveyorError } from '../../domain/errors';
import { REQUEST_LIMITS } from '../../domain/limits';
import {
  readAudit,
  verifyAudit,
  type AuditPage,
  type AuditQuery,
  type Chain,
  type ChainVerification,
} from '../../settings/audit/files';
import { auditTable, verificationText } from '../../render/audit';
import { resolveDoor, toHttpOptions } from '../door';
import { EXIT } from '../exit';
import { emit } from '../output';
import { countOption, examples, type CommandCall, type Register } from './command';
import { sinceOption } from './times';

interface AuditOptions {
  readonly verify?: boolean;
  readonly since?: string;
  readonly pipeline?: string;
  readonly actor?: string;
  readonly outcome?: AuditRecord['outcome'];
  readonly limit?: string;
  readonly file?: string;
  readonly expect?: readonly string[];
}

export const auditCommand: Register = (program, cli) => {
  program
    .command('audit')
    .description('who changed what, who was refused, and why; and whether the record was tampered with')
    .option('--since <time>', 'a duration ago, or a time: 2h, 2026-12-27T06:00:00Z')
    .option('--pipeline <name>', 'only records of this pipeline')
    .option('--actor <principal>', 'only actions of this person or program')
    .addOption(new Option('--outcome <outcome>', 'only records with this outcome').choices(AUDIT_OUTCOMES))
    .option('--limit <count>', 'how many, newest first (100)')
    .option('--verify', 'verify the whole audit, and show the first broken record')
    .option(
      '--expect <seq:hash>',
      'with --verify --file: a record that you know from elsewhere; refusals:<seq:hash> for one of those',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option('--file <file>', 'read audit.jsonl itself, without a server')
    .addHelpText(
      'after',
      examples(
        'conveyor audit --since 2h',
        'conveyor audit --pipeline kvstore --actor user:alice -o json',
        'conveyor audit --verify                                exit code 1 if a record is broken',
        'conveyor audit --file /var/lib/conveyor/audit.jsonl    at night, with no server',
      ),
    )
    .action(
      cli.handle<AuditOptions>(async (call) => {
        if (call.options.verify) return verifyChains(call);
        if (call.options.expect !== undefined)
          throw conveyorError('usage', { text: '--expect is for --verify', hint: 'add --verify and --file' });
        const records = await readAuditRecords(call);
        emit(call.io, call.output, records, {
          text: (view, shown) => auditTable(shown, view, call.output.wide),
          name: records.map(({ hash }) => hash),
        });
        return EXIT.ok;
      }),
    );
};

async function verifyChains(call: CommandCall<AuditOptions>): Promise<number> {
  const { io, output, options } = call;
  const expect = parseExpected(options);
  const chains =
    options.file === undefined
      ? await askAt(requireServer(call)).verifyAudit()
      : await verifyFile(options.file, expect);
  emit(io, output, chains, {
    text: (view, shown) => verificationText(shown, view),
    name: chains.map(({ chain }) => chain),
  });
  return chains.every(({ broken }) => broken === null) ? EXIT.ok : EXIT.error;
}

/** @throws ConveyorError `file-unreadable` if there is no chain to verify */
async function verifyFile(file: string, expect: Anchors): Promise<readonly ChainVerification[]> {
  const chains = await verifyAudit(file, expect);
  if (chains.some(({ records, hasEnds }) => records > 0 || hasEnds)) return chains;
  throw conveyorError('file-unreadable', { file, detail: 'there is no audit' });
}

async function readAuditRecords(call: CommandCall<AuditOptions>): Promise<readonly AuditRecord[]> {
  const { io, options } = call;
  const { pipeline, actor, outcome, file } = options;
  const limit = countOption('--limit', options.limit, 100);
  const sinceMs = sinceOption('--since', options.since, io.now());
  const since = sinceMs === undefined ? undefined : new Date(sinceMs).toISOString();
  const query = { pipeline, actor, outcome, since, limit };
  return file === undefined ? fetchAuditRecords(call, query) : (await readAudit(file, query)).records;
}

async function fetchAuditRecords(call: CommandCall<AuditOptions>, query: AuditQuery): Promise<readonly AuditRecord[]> {
  const server = requireServer(call);
  const found: AuditRecord[] = [];
  let before: AuditPage['next'] | undefined;
  while (before !== null && found.length < query.limit) {
    const limit = Math.min(query.limit - found.length, REQUEST_LIMITS.rows.max);
    const page: AuditPage = await askAt(server).audit({ ...query, limit, before });
    found.push(...page.records);
    before = page.next;
  }
  return found;
}

function requireServer({ io, connect }: CommandCall<AuditOptions>) {
  const door = resolveDoor(io.env, connect);
  if (door.kind === 'server') return toHttpOptions(io, door);
  throw conveyorError('usage', {
    text: 'a server keeps the audit, but commands go to Temporal directly',
    hint: 'conveyor login URL; or read its file: conveyor audit --file /var/lib/conveyor/audit.jsonl',
  });
}

/** Records known from elsewhere, one for each chain. */
type Anchors = Readonly<Partial<Record<Chain, Link>>>;

function parseExpected({ expect = [], file }: AuditOptions): Anchors {
  const anchors = expect.map((text) => {
    const [, chain, seq, hash] = /^(?:(changes|refusals):)?(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
    if (seq !== undefined && hash !== undefined && file !== undefined)
      return [chain ?? 'changes', { seq: Number(seq), hash }] as const;
    throw conveyorError('usage', {
      text: file === undefined ? '--expect is for a --file' : `--expect ${text} is not a record`,
      hint: 'write it as 812:<64 hexadecimal digits>, or refusals:12:…, as --verify prints and the CloudEvent of the record has both',
    });
  });
  return Object.fromEntries(anchors);
}
