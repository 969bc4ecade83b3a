import { setCurrentDetails } from '@temporalio/workflow';

/**
 * Shows the output of `write` in the Web UI. It is computed only when a person opens the page, because the workflow changes far more often. The
 * SDK stores the given details, and serialises them to JSON on request.
 */
export const showDetails = (write: () => string): void => setCurrentDetails({ toJSON: write } as unknown as string);
