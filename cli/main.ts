import { endQuietlyOnClosedPipe, processIo } from './processIo';
import { runCli } from './run';

endQuietlyOnClosedPipe();

// Set, not called: what is still being written to a pipe is written before the process ends.
void runCli(process.argv.slice(2), processIo()).then((code) => {
  process.exitCode = code;
});
