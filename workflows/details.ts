import { setCurrentDetails } from '@temporalio/workflow';

/**
 * Shows in the Web UI what `write` makes of a workflow whenever somebody looks there; nothing is written at its changes, of which there
 * are many more. The SDK keeps the details as they are given, and puts them into JSON when it is asked for them.
 */
export const showDetails = (write: () => string): void => setCurrentDetails({ toJSON: write } as unknown as string);
