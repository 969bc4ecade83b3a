import { endQuietlyOnClosedPipe, processIo } from './processIo';
import { runCli } from './run';

endQuietlyOnClosedPipe();

const argv = process.argv.slice(2);

// Set, not called: what is still being written to a pipe is written before the process ends.
void runCli(argv, processIo()).then((code) => {
  process.exitCode = code;
  // A shell waits for the end of this process, and a server that does not answer must not keep it from it.
  if (argv[0] === '__complete') process.stdout.write('', () => process.exit());
});
