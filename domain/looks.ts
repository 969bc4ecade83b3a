/** The type of the failure that a look ends with while there is no answer: its activity is tried again later. It is no trouble. */
export const STILL_WAITING = 'still-waiting';

/** The type of the failure of a look after so many others that whoever waits for an answer should hear of it. */
export const KEEPS_FAILING = 'keeps-failing';
