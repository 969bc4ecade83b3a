import { claim } from '../../settings/claim';

/** Claims a file, says what came of it, and has it until it is stopped. */
try {
  claim(process.argv.at(-1) ?? '', { what: 'the state', onLost: () => process.exit(3) });
  process.stdout.write('has it\n');
  process.stdin.resume();
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
}
