/** Quartz's notes in the data of a recovery trigger: which firing it runs again. All values are text. */
export const recoveryKeys = {
  triggerName: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME',
  triggerGroup: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP',
  fireTime: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_FIRETIME_IN_MILLISECONDS_AS_STRING',
  scheduledFireTime: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS_AS_STRING',
} as const
