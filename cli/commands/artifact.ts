import { basename, extname } from 'node:path';
import { findUnsigned } from '../../domain/access/signatureRule';
import { formatIdentity, type Artifact } from '../../domain/artifact';
import { conveyorError } from '../../domain/errors';
import { paint } from '../../render/paint';
import { readAttestations } from '../attestations';
import { EXIT } from '../exit';
import { emit } from '../output';
import { readText } from '../textFile';
import { examples, type CommandCall, type Register } from './command';
import { collectOption, parseArtifact } from './start';

interface ArtifactOptions {
  readonly artifact: string;
  readonly key: readonly string[];
  readonly pipeline?: string;
}

const EXAMPLES = examples(
  'conveyor artifact verify kv12.json --artifact executable=kv:12 --key ci.pub',
  'conveyor artifact verify kv12.json --artifact executable=kv:12 --pipeline kvstore    by its rules',
);

const verifyCommand: Register = (group, cli) => {
  group
    .command('verify <file...>')
    .description('check whether attestations sign an artifact, and with which keys')
    .requiredOption('-a, --artifact <name=version[,digest=…]>', 'the artifact, as it would be released')
    .option('--key <file>', 'a public key in PEM; repeat for several (default: platform.keys)', collectOption, [])
    .option('--pipeline <name>', 'also check the rules that protect this pipeline')
    .addHelpText('after', EXAMPLES)
    .action(
      cli.handle<ArtifactOptions, [readonly string[]]>(async (call, files) => {
        const given = parseArtifact(call.options.artifact);
        const artifact = { ...given, metadata: { ...given.metadata, ...readAttestations(files) } };
        const { by, not, refused } = await verifySignatures(call, artifact);
        const value = { artifact: formatIdentity(artifact), signed: refused === null, by, not, why: refused };
        emit(call.io, call.output, value, {
          text: ({ color }, shown) => {
            const colors = paint(color);
            const signed = `${colors.green('✔')} ${shown.artifact} is signed with ${shown.by.join(', ')}`;
            const first = shown.why === null ? signed : `${colors.red('✗')} ${shown.why}`;
            return [first, ...shown.not.map((why) => `  ${why}`)].join('\n');
          },
          name: by,
        });
        return refused === null ? EXIT.ok : EXIT.notFound;
      }),
    );
};

/** Inspects an artifact before its release. */
export const artifactCommand: Register = (program, cli) => {
  const group = program
    .command('artifact')
    .description('check whether an artifact is signed, before it is released')
    .addHelpText('after', EXAMPLES)
    .helpCommand(false);
  verifyCommand(group, cli);
};

/** Verifies with the given keys only, or with the platform's keys and rules. */
async function verifySignatures({ io, options }: CommandCall<ArtifactOptions>, artifact: Artifact) {
  const { key: files, pipeline } = options;
  if (files.length > 0 && pipeline !== undefined)
    throw conveyorError('usage', { text: 'a pipeline has its own keys', hint: 'leave out --key or --pipeline' });
  // Loaded only here, so that other commands start faster.
  const { parsePublicKey, findSigners } = await import('../../settings/attestation');
  const keys = files.map((file) => {
    const key = parsePublicKey(readText(file));
    if (typeof key === 'string') throw conveyorError('file-unreadable', { file, detail: key });
    return { name: basename(file, extname(file)), key };
  });
  const registry = files.length > 0 ? null : (await import('../../settings/registry')).loadRegistry(undefined, io.env);
  const signers = findSigners(registry?.signingKeys ?? keys, artifact, pipeline ?? null);
  const refusal = registry && pipeline !== undefined ? findUnsigned(registry, { pipeline }, [artifact]) : undefined;
  const none = signers.by.length === 0 ? `${formatIdentity(artifact)} is not signed with any known key` : null;
  // The refusal names the attestations that do not count.
  return refusal ? { ...signers, not: [], refused: refusal.message } : { ...signers, refused: none };
}
